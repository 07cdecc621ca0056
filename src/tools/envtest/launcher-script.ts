/**
 * The launchers `kube-apiserver` and `etcd` as shell scripts. Since a suite starts dozens of them, each is only a
 * shell (`launcher.sh`): it requests its program from the shared process (`shared/files.ts` has the protocol), prints
 * the output, and forwards signals. A Node process for each would cost 40 MB, and more time than the cluster itself.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../../lib/shell-word.ts'

export type ProgramName = 'etcd' | 'kube-apiserver'

/**
 * Version of the protocol between launchers and the shared process. Increase it with every change, since launchers
 * remain when the package is updated.
 */
export const protocol = '1'

export interface LauncherOptions {
  readonly program: ProgramName
  /** The command that runs `t8s`: Node with flags, and the bundle. */
  readonly command: readonly string[]
  /** The file with the build ID; different builds do not share a process. */
  readonly buildFile: string
  /** The text of `--help`. */
  readonly help: string
}

/** Returns the script. In the bundle, `launcher.sh` is beside the bundle's files. */
export const launcherScript = (options: LauncherOptions): string =>
  head(options) + readFileSync(join(import.meta.dirname, 'launcher.sh'), 'utf8') + helpComment(options.help)

/** `session` is set to `setsid` for the shared process, which must survive the launcher. */
const head = ({ program, command, buildFile }: LauncherOptions): string => `#!/bin/sh
# ${program} of Typernetes, for test suites. Written by \`t8s envtest-assets\`.
program=${program} protocol=${protocol} build_file=${shellWord(buildFile)} session=
t8s() { exec $session ${command.map(shellWord).join(' ')} envtest "$@"; }

`

const helpComment = (help: string): string => {
  const lines = help.trimEnd().split('\n')
  return `
# help:
${lines.map((line) => `# ${line}`.trimEnd()).join('\n')}
`
}
