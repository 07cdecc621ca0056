/**
 * What the launchers of `t8s envtest-assets` call: `t8s envtest PROGRAM …`. Not a command for people, so it has no
 * help; and it passes by the command line's other half, which would take 25 ms of a suite's time.
 */
import { parseDurationMs } from '../../lib/duration.ts'
import { answeredAtOnce } from '../running/answered-at-once.ts'
import { inForeground } from '../running/foreground.ts'

const usualIdle = '30s'
/** Suites wait for the end of each program. */
const graceMs = 500

/** Runs what `args` name and sets the exit code. Never rejects. */
export async function envtest([program, ...args]: readonly string[]): Promise<void> {
  if (program === 'shared' && args[0]) return shared(args[0], args[1])
  if (program === 'etcd') return etcd(args)
  if (program === 'kube-apiserver') return kubeApiServer(args)
  process.stderr.write(
    't8s: `t8s envtest` is what the launchers of `t8s envtest-assets` call: write them, and start those\n',
  )
  process.exitCode = 1
}

async function kubeApiServer(args: readonly string[]): Promise<void> {
  await inForeground('kube-apiserver', graceMs, async (log) => {
    const flags = await answeredAtOnce(args, 'kube-apiserver')
    if (flags === 'answered') process.exit()
    const { runApiServer, usualServers } = await import('../../envtest/program.ts')
    return runApiServer(flags, flags.list('etcd-servers') ?? usualServers, { cwd: process.cwd(), log })
  })
}

async function etcd(args: readonly string[]): Promise<void> {
  await inForeground('etcd', graceMs, async (log) => {
    if (args.includes('--version')) {
      const { release } = await import('../../lib/release.ts')
      process.stdout.write(`etcd Version: 3.6.0+t8s.${release}\n`)
      process.exit()
    }
    const { runEtcd } = await import('../../envtest/program.ts')
    return runEtcd(args, { cwd: process.cwd(), log })
  })
}

async function shared(directory: string, spoken: string | undefined): Promise<void> {
  const [{ runSharedProcess }, { protocol }] = await Promise.all([
    import('../../envtest/shared/process.ts'),
    import('../../envtest/launcher-script.ts'),
  ])
  if (spoken !== protocol) {
    process.stderr.write(
      'these launchers were written by another version of Typernetes: run t8s envtest-assets again\n',
    )
    process.exit(1)
  }
  const idle = process.env.T8S_ENVTEST_IDLE || usualIdle
  const idleMs = parseDurationMs(idle)
  if (idleMs === undefined) {
    process.stderr.write(`T8S_ENVTEST_IDLE=${idle} is no duration: give one such as ${usualIdle}\n`)
    process.exit(1)
  }
  await runSharedProcess({
    directory,
    idleMs,
    log: (line) => process.stderr.write(`${new Date().toISOString()} ${line}\n`),
  })
  process.exit()
}
