// Talking to the program behind the page.

/** Its message is the server's, one fault a line. */
export class Refused extends Error {}

async function answered(response) {
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refused(body.error ?? `the program answered ${response.status}`);
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("the program behind this page does not answer; is `traingraph serve` still running?");
  }
  return answered(response);
}

export async function get(path) {
  return (await request(path)).json();
}

export function postRaw(path, body, signal) {
  return request(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), signal});
}

export async function post(path, body, signal) {
  return (await postRaw(path, body, signal)).json();
}

export async function remove(path) {
  return (await request(path, {method: "DELETE", headers: {"Content-Type": "application/json"}})).json();
}
