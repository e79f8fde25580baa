// The entry of a report: the document stands in the page itself.

import {stepResult} from "./step_result.js";

document.getElementById("view").append(stepResult(JSON.parse(document.getElementById("document").textContent)));
