/** `t8s controller-manager`: only the controllers, with the flags of kube-controller-manager. */
import { Command } from 'commander'
import { ExplainedError } from '../../../../lib/explained-error.ts'
import { standardLog } from '../../../../lib/log/log.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { stopSignal } from '../../../running/stop-signal.ts'
import { passThrough } from './apiserver.ts'

/** Time for active reconciles at shutdown, in ms. */
const graceMs = 5_000

export function controllerManagerCommand(): Command {
  return passThrough(
    new Command('controller-manager').description(
      'run only the controllers, with the flags of kube-controller-manager (--help lists them)',
    ),
  ).action((args: string[]) => controllerManager(args))
}

async function controllerManager(args: readonly string[]): Promise<void> {
  const stopping = stopSignal()
  const { logFormatOf, managerFlags, managerHelp, startControllerManager } = await import(
    '../../../../cluster/controller-manager/index.ts'
  )
  // As upstream, --help is answered before flags are parsed, so that wrong flags do not matter.
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(managerHelp('t8s controller-manager'))
    process.exit()
  }
  const flags = managerFlags(args)
  if (flags.text('version') !== undefined && flags.text('version') !== 'false') {
    const [{ versionInfo }, { release }] = await Promise.all([
      import('../../../../apiserver/version/version.ts'),
      import('../../../../lib/release.ts'),
    ])
    process.stdout.write(`Kubernetes ${versionInfo(release).gitVersion}\n`)
    process.exit()
  }
  const log = standardLog(logFormatOf(flags))
  const manager = await startControllerManager({ flags, cwd: process.cwd(), log })
  if (manager.port !== undefined) log(`health and metrics on port ${manager.port}`)
  surviveErrors(log)
  tuneAfterStart()
  const end = await Promise.race([manager.ended, stopping.requested])
  await manager.stop(graceMs)
  if (end === 'lost') {
    throw new ExplainedError(
      'leaderelection lost: another controller manager may lead now, so this one exits; have systemd or a kubelet ' +
        'restart it',
    )
  }
}
