/** Addresses of workspaces on other machines and in containers, and the user's own commands that lead there. */

/** A place that this machine reaches through a command of the user. */
export interface RemotePlace {
  /** The address as typed, for messages. */
  readonly shown: string;
  /** The folder there; a leading `~` is the home folder. */
  readonly folder: string;
  /** The Node to start there: a name to look up, or a path. */
  readonly node: string;
  /** The command that runs a script of `sh` there, with its stdin and stdout. */
  command(script: string): readonly [program: string, ...args: string[]];
}

const schemes = ["ssh", "docker", "podman", "kubectl"] as const;
type Scheme = (typeof schemes)[number];

const addressPattern = /^([a-z]+):\/\/(.*)$/s;

export const isRemote = (text: string): boolean => schemes.some((scheme) => addressPattern.exec(text)?.[1] === scheme);

/** Nothing that a command could take for an option, and nothing that a shell would read. */
const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$/;
const ipv6Pattern = /^\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9]+)?\]$/;
const nodePattern = /^[A-Za-z0-9_./@+-]+$/;

const parameters: Readonly<Record<Scheme, readonly string[]>> = {
  ssh: ["node"],
  docker: ["node"],
  podman: ["node"],
  kubectl: ["node", "namespace", "container", "context"],
};

/** Or why there is no such place, as words to follow `Cannot open "…": `. */
export function remotePlace(text: string): RemotePlace | { readonly fault: string } {
  const [, given = "", rest = ""] = addressPattern.exec(text) ?? [];
  const scheme = schemes.find((one) => one === given);
  if (scheme === undefined) return { fault: `use one of ${schemes.map((one) => `${one}://`).join(", ")}` };
  const slash = rest.indexOf("/");
  if (slash === -1) return { fault: `name the folder, such as ${scheme}://${rest}/home/me/project` };
  const [rawPath, query = ""] = split(rest.slice(slash), "?");
  const authority = readAuthority(rest.slice(0, slash), scheme);
  if ("fault" in authority) return authority;
  const options = readOptions(query, parameters[scheme]);
  if ("fault" in options) return options;
  let folder: string;
  try {
    folder = decodeURIComponent(rawPath);
  } catch {
    return { fault: "its path has a % that is no escape, write %25 for a %" };
  }
  if (/[\0\n\r]/.test(folder)) return { fault: "its path has a control character" };
  const { node = "node" } = options.values;
  if (!nodePattern.test(node)) return { fault: `"${node}" is no path of Node` };
  return {
    shown: text,
    folder: folder === "/~" || folder.startsWith("/~/") ? folder.slice(1) : folder,
    node,
    command: (script) => commandTo(scheme, authority, options.values, script),
  };
}

interface Authority {
  readonly user: string | undefined;
  readonly name: string;
  readonly port: string | undefined;
}

function readAuthority(text: string, scheme: Scheme): Authority | { readonly fault: string } {
  const at = text.lastIndexOf("@");
  const user = at === -1 ? undefined : text.slice(0, at);
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text.slice(at + 1)) ?? [];
  if (user?.includes(":") === true) return { fault: "a password does not belong there, use a key" };
  if (!namePattern.test(name) && !(scheme === "ssh" && ipv6Pattern.test(name))) {
    return { fault: `"${name}" is no name of a ${scheme === "ssh" ? "machine" : "container"}` };
  }
  if (user !== undefined && (!namePattern.test(user) || scheme === "kubectl")) {
    return { fault: `"${user}" cannot be a user there` };
  }
  if (port !== undefined && (scheme !== "ssh" || !/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)) {
    return { fault: `"${port}" cannot be a port there` };
  }
  return { user, name, port };
}

type Values = Readonly<Partial<Record<string, string>>>;

function readOptions(
  query: string,
  known: readonly string[],
): { readonly values: Values } | { readonly fault: string } {
  const values: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.includes(name)) return { fault: `there is no "${name}", use ${known.join(", ")} after the ?` };
    if (name !== "node" && !namePattern.test(value)) return { fault: `"${value}" is no ${name}` };
    values[name] = value;
  }
  return { values };
}

/** ssh joins its arguments to one line for the user's shell there, so the script is quoted for it. */
function commandTo(
  scheme: Scheme,
  { user, name, port }: Authority,
  { namespace, container, context }: Values,
  script: string,
): readonly [string, ...string[]] {
  switch (scheme) {
    case "ssh": {
      // No question at a terminal that a client draws on, and a connection that is dead is noticed.
      const quiet = ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"];
      const to = `${user === undefined ? "" : `${user}@`}${name.replace(/^\[|\]$/g, "")}`;
      return ["ssh", ...quiet, ...(port === undefined ? [] : ["-p", port]), "--", to, `sh -c '${script}'`];
    }
    case "docker":
    case "podman":
      return [scheme, "exec", "-i", ...(user === undefined ? [] : ["-u", user]), name, "sh", "-c", script];
    case "kubectl":
      return [
        "kubectl",
        ...(context === undefined ? [] : ["--context", context]),
        "exec",
        "-i",
        ...(namespace === undefined ? [] : ["-n", namespace]),
        name,
        ...(container === undefined ? [] : ["-c", container]),
        "--",
        "sh",
        "-c",
        script,
      ];
  }
}

function split(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
