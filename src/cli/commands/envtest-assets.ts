/** `t8s envtest-assets`: writes the programs that test suites of operators start. */
import { chmodSync, existsSync, symlinkSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { Command } from 'commander'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import { shellWord } from '../../lib/shell-word.ts'

export function envtestAssetsCommand(): Command {
  return new Command('envtest-assets')
    .argument('<DIR>', 'the directory to write to; it is created if it does not exist')
    .description("write kube-apiserver, etcd and kubectl for test suites of operators (Go's envtest and others)")
    .action(writeAssets)
}

async function writeAssets(given: string): Promise<void> {
  const directory = resolve(given)
  const [{ launcherScript }, { etcdHelp }, { apiServerHelp }] = await Promise.all([
    import('../../tools/envtest/launcher-script.ts'),
    import('../../tools/envtest/etcd/flags.ts'),
    import('../../apiserver/serving-flags/index.ts'),
  ])
  const command = [process.execPath, ...process.execArgv, join(import.meta.dirname, 't8s.js')]
  const buildFile = join(import.meta.dirname, 'build-id')
  try {
    makeDirectory(directory, 0o755)
    for (const [program, help] of [
      ['kube-apiserver', apiServerHelp('kube-apiserver')] as const,
      ['etcd', etcdHelp] as const,
    ]) {
      const file = join(directory, program)
      writeFileAtomically(file, launcherScript({ program, command, buildFile, help }), 0o755)
      // The umask may have removed permissions.
      chmodSync(file, 0o755)
    }
    linkKubectl(directory)
  } catch (error) {
    throw new ExplainedError(`cannot write to ${directory}: ${reasonOf(error)}; choose another directory`, {
      cause: error,
    })
  }
  process.stdout.write(`export KUBEBUILDER_ASSETS=${shellWord(directory)}\n`)
}

/** Links the kubectl of PATH, if there is one and the directory has none. */
function linkKubectl(directory: string): void {
  const target = join(directory, 'kubectl')
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'kubectl'))
    .find((file) => file !== target && existsSync(file))
  if (existsSync(target)) return
  if (found) symlinkSync(found, target)
  else process.stderr.write('t8s: there is no kubectl on PATH: test suites that need kubectl must provide it\n')
}
