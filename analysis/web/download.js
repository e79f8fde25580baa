// Files for the person in front of the page.

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function save(text, name) {
  offer(new Blob([text], {type: "application/octet-stream"}), name);
}

/** Draws an SVG text with a size of its own at twice that size. */
export async function savePng(svg, name) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => offer(blob, name), "image/png");
}
