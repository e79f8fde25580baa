// The page: one view at a time, named by the address's fragment.

import {element} from "./dom.js";
import {LimitsView} from "./limits_view.js";
import {StepView} from "./step_view.js";
import {decode} from "./url_state.js";

const kViews = {
  limits: {title: "Limits", open: (values) => LimitsView.open(values)},
  step: {title: "Step", open: (values) => StepView.open(values)},
};

async function show() {
  const {view, values} = decode(location.hash);
  const name = view in kViews ? view : "limits";
  document.getElementById("tabs").replaceChildren(...Object.entries(kViews).map(([key, {title}]) =>
    element("a", {href: `#${key}`, "aria-current": key === name ? "page" : null}, title)));
  const main = document.getElementById("view");
  try {
    main.replaceChildren((await kViews[name].open(values)).node);
  } catch (error) {
    main.replaceChildren(element("p", {class: "error", role: "alert"}, error.message));
  }
}

window.addEventListener("hashchange", show);
show();
