/**
 * `t8s envtest PROGRAM …`, which the launchers of `t8s envtest-assets` call. It is internal, has no help, and skips the
 * command-line parser, which would cost a suite 25 ms.
 */
import { parseDurationMs } from '../../../lib/duration.ts'
import { inForeground } from '../../running/foreground.ts'
import { helpOrFlags } from '../../running/help-or-flags.ts'

const defaultIdle = '30s'
/** Short, since suites wait for the end of each program. In ms. */
const graceMs = 500

/** Runs the program that `args` name and sets the exit code. Never rejects. */
export async function envtest([program, ...args]: readonly string[]): Promise<void> {
  if (program === 'shared' && args[0]) return shared(args[0], args[1])
  if (program === 'etcd') return etcd(args)
  if (program === 'kube-apiserver') return kubeApiServer(args)
  process.stderr.write('t8s: `t8s envtest` is internal: run `t8s envtest-assets DIR` and start the programs in DIR\n')
  process.exitCode = 1
}

async function kubeApiServer(args: readonly string[]): Promise<void> {
  await inForeground('kube-apiserver', graceMs, async (log) => {
    const flags = await helpOrFlags(args, 'kube-apiserver')
    if (flags === 'answered') process.exit()
    const { runApiServer, defaultServers } = await import('../../../tools/envtest/program.ts')
    return runApiServer(flags, flags.list('etcd-servers') ?? defaultServers, { cwd: process.cwd(), log })
  })
}

async function etcd(args: readonly string[]): Promise<void> {
  await inForeground('etcd', graceMs, async (log) => {
    if (args.includes('--version')) {
      const { release } = await import('../../../lib/release.ts')
      process.stdout.write(`etcd Version: 3.6.0+t8s.${release}\n`)
      process.exit()
    }
    const { runEtcd } = await import('../../../tools/envtest/program.ts')
    return runEtcd(args, { cwd: process.cwd(), log })
  })
}

async function shared(directory: string, version: string | undefined): Promise<void> {
  const [{ runSharedProcess }, { protocol }] = await Promise.all([
    import('../../../tools/envtest/shared/process.ts'),
    import('../../../tools/envtest/launcher-script.ts'),
  ])
  if (version !== protocol) {
    process.stderr.write(
      'these launchers were written by another version of Typernetes: run t8s envtest-assets again\n',
    )
    process.exit(1)
  }
  const idle = process.env.T8S_ENVTEST_IDLE || defaultIdle
  const idleMs = parseDurationMs(idle)
  if (idleMs === undefined) {
    process.stderr.write(`T8S_ENVTEST_IDLE=${idle} is not a duration: use one such as ${defaultIdle}\n`)
    process.exit(1)
  }
  await runSharedProcess({
    directory,
    idleMs,
    log: (line) => process.stderr.write(`${new Date().toISOString()} ${line}\n`),
  })
  process.exit()
}
