/** `t8s flannel`: connects the pods of this machine, a node of any cluster, with those of other nodes. */
import { Command } from 'commander'
import { standardLog } from '../../../lib/log/log.ts'
import { tuneAfterStart } from '../../../lib/process/tune-after-start.ts'
import { surviveErrors } from '../../../lib/process/unhandled-errors.ts'
import { stopSignal } from '../../running/stop-signal.ts'
import { passThrough } from './apiserver.ts'

export function flannelCommand(): Command {
  return passThrough(
    new Command('flannel').description(
      'connect the pods of this machine with those of other nodes (--help lists the flags)',
    ),
  ).action((args: string[]) => runFlannelCommand(args))
}

async function runFlannelCommand(args: readonly string[]): Promise<void> {
  const stopping = stopSignal()
  const { flannelFlags, flannelHelp } = await import('../../../cluster/flannel/flags.ts')
  if (args.some((arg) => arg === '--help' || arg === '-help' || arg === '-h')) {
    process.stdout.write(flannelHelp('t8s flannel'))
    process.exit()
  }
  const flags = flannelFlags(args, process.env)
  if (flags.text('version') !== undefined && flags.text('version') !== 'false') {
    const { kubernetesVersion, release } = await import('../../../lib/release.ts')
    process.stdout.write(`flannel of ${kubernetesVersion(release)}\n`)
    process.exit()
  }
  const format = flags.text('logging-format')
  const log = standardLog(format === 'json' || format === 'text' ? format : undefined)
  const { runFlannel } = await import('../../../cluster/flannel/run-flannel.ts')
  const controller = new AbortController()
  void stopping.requested.then(() => controller.abort())
  surviveErrors(log)
  const running = runFlannel({ flags, environment: process.env, log, signal: controller.signal })
  tuneAfterStart()
  await running
  log('Exiting cleanly...')
}
