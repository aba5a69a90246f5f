/** What a language server gets of the environment: what tools need to find themselves, and no tokens of the host. */

const names = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "TMP",
  "TEMP",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
  // Where languages have their things.
  "CARGO_HOME",
  "CONDA_PREFIX",
  "GOCACHE",
  "GOFLAGS",
  "GOMODCACHE",
  "GOPATH",
  "GOROOT",
  "JAVA_HOME",
  "NVM_DIR",
  "PYENV_ROOT",
  "PYTHONPATH",
  "RUSTUP_HOME",
  "RUSTUP_TOOLCHAIN",
  "VIRTUAL_ENV",
  // Without these hardly a program starts on Windows.
  "APPDATA",
  "COMSPEC",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "USERPROFILE",
  "WINDIR",
]);

export function cleanEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const known = names.has(name.toUpperCase()) || name.startsWith("LC_");
    if (value !== undefined && known) clean[name] = value;
  }
  return { ...clean, ...added };
}
