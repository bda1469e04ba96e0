// A message about a file outside the project says where it is.
import { expect, test } from "vitest";
import { outsideMessage } from "../../../src/core/manifests/boundary.ts";

test.each([
  ["a file elsewhere", "/etc/passwd", "/etc/passwd is not in /srv/team. Whoever"],
  ["a file of git, which is in the project", "/srv/team/.git/config", "/srv/team/.git/config is in a .git folder, where git keeps"],
])("the message about %s says where it is", (_, file, text) => {
  expect(outsideMessage(file, file, "/srv/team")).toContain(text);
});
