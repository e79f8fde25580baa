// What a report's bundle needs of the modules (analysis/report_page.h), and the page's security policy of its files.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import test from "node:test";

const folder = new URL("../../analysis/web/", import.meta.url);
const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), "utf8")]));
const modules = [...texts].filter(([name]) => name.endsWith(".js"));

test("an import is one line from a module that is there", () => {
  for (const [name, text] of modules) {
    for (const line of text.split("\n").filter((l) => /^import\b/.test(l))) {
      const [, from] = line.match(/^import \{[^}]+\} from "\.\/([a-z_]+\.js)";$/) ?? [];
      assert.ok(from && texts.has(from), `${name}: ${line}`);
    }
  }
});

test("no two modules have a top-level name in common", () => {
  const home = new Map();
  for (const [name, text] of modules) {
    for (const [, word] of text.matchAll(/^(?:export )?(?:async )?(?:const|let|function|class) ([A-Za-z]+)/gm)) {
      assert.ok(!home.has(word), `${word} in ${name} and ${home.get(word)}`);
      home.set(word, name);
    }
  }
});

test("nothing comes from elsewhere, nothing stands inline", () => {
  for (const [name, text] of texts) assert.ok(!/https?:\/\/(?!www\.w3\.org\/2000\/svg)/.test(text), name);
  assert.ok(!/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/.test(texts.get("index.html")));
});
