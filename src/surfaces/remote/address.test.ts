/** Addresses of remote workspaces: the command that each becomes, and those that are refused. */

import { describe, expect, test } from "vitest";
import { isRemote, remotePlace } from "./address.ts";

const quiet = ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"];

describe("a command", () => {
  for (const [address, folder, command] of [
    ["ssh://host/srv/app", "/srv/app", ["ssh", ...quiet, "--", "host", "sh -c 'run'"]],
    ["ssh://me@host:2222/~/app", "~/app", ["ssh", ...quiet, "-p", "2222", "--", "me@host", "sh -c 'run'"]],
    ["ssh://me@[fe80::1%eth0]/", "/", ["ssh", ...quiet, "--", "me@fe80::1%eth0", "sh -c 'run'"]],
    ["ssh://host/a%20b/%C3%A9", "/a b/é", ["ssh", ...quiet, "--", "host", "sh -c 'run'"]],
    ["ssh://host/~", "~", ["ssh", ...quiet, "--", "host", "sh -c 'run'"]],
    ["docker://web_1/srv", "/srv", ["docker", "exec", "-i", "web_1", "sh", "-c", "run"]],
    ["podman://app@web/srv", "/srv", ["podman", "exec", "-i", "-u", "app", "web", "sh", "-c", "run"]],
    ["kubectl://web-0/srv", "/srv", ["kubectl", "exec", "-i", "web-0", "--", "sh", "-c", "run"]],
    [
      "kubectl://web-0/srv?namespace=prod&container=app&context=east",
      "/srv",
      ["kubectl", "--context", "east", "exec", "-i", "-n", "prod", "web-0", "-c", "app", "--", "sh", "-c", "run"],
    ],
  ] as const) {
    test(address, () => {
      expect(isRemote(address)).toBe(true);
      const place = remotePlace(address);
      if ("fault" in place) throw new Error(place.fault);
      expect(place.folder).toBe(folder);
      expect(place.command("run")).toEqual(command);
    });
  }

  test("another Node can be named", () => {
    expect(remotePlace("ssh://host/a?node=/opt/node-22/bin/node")).toMatchObject({ node: "/opt/node-22/bin/node" });
  });
});

describe("refused", () => {
  for (const [address, fault] of [
    ["ssh://host", "name the folder, such as ssh://host/home/me/project"],
    ["ssh://-oProxyCommand=x/a", '"-oProxyCommand=x" is no name of a machine'],
    ["ssh://-oProxyCommand=x@host/a", '"-oProxyCommand=x" cannot be a user there'],
    ["ssh://a$(x)/a", '"a$(x)" is no name of a machine'],
    ["ssh://a'b/a", `"a'b" is no name of a machine`],
    ["ssh:///a", '"" is no name of a machine'],
    ["ssh://me:secret@host/a", "a password does not belong there, use a key"],
    ["ssh://host:0/a", '"0" cannot be a port there'],
    ["ssh://host:99999/a", '"99999" cannot be a port there'],
    ["docker://web:80/a", '"80" cannot be a port there'],
    ["docker://--privileged/a", '"--privileged" is no name of a container'],
    ["docker://[::1]/a", '"[::1]" is no name of a container'],
    ["kubectl://me@web/a", '"me" cannot be a user there'],
    ["kubectl://web/a?namespace=-x", '"-x" is no namespace'],
    ["ssh://host/a?node=x;y", '"x;y" is no path of Node'],
    ["ssh://host/a?node=$(x)", '"$(x)" is no path of Node'],
    ["ssh://host/a?namespace=x", 'there is no "namespace", use node after the ?'],
    ["ssh://host/%zz", "its path has a % that is no escape, write %25 for a %"],
    ["ssh://host/a%00b", "its path has a control character"],
    ["ssh://host/a%0Ab", "its path has a control character"],
  ] as const) {
    test(address, () => expect(remotePlace(address)).toEqual({ fault }));
  }

  test("what is no address is a folder", () => {
    for (const folder of ["/srv", "ssh", "ssh:", "http://host/a", "C:\\a", "./ssh://x/y"]) {
      expect(isRemote(folder), folder).toBe(false);
    }
  });
});
