/** `t8s scheduler`: only the scheduler, for any API server. */
import { Command } from 'commander'
import { ExplainedError } from '../../../../lib/explained-error.ts'
import { standardLog } from '../../../../lib/log/log.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { type SchedulerFlags, schedulerFlags } from '../../../flags/scheduler-flags.ts'
import { stopSignal } from '../../../running/stop-signal.ts'

const examples = `
Examples:
  t8s scheduler --kubeconfig .t8s/kubeconfig                         for a t8s up --no-scheduler
  t8s scheduler --kubeconfig kubeconfig --config profiles.yaml       profiles, plugins and extenders from a file
  t8s scheduler --kubeconfig kubeconfig --leader-elect=false --secure-port 0
  curl -k https://127.0.0.1:10259/readyz                             is it ready to schedule?`

export function schedulerCommand(): Command {
  const command = new Command('scheduler')
    .description('run only the scheduler, for any API server; of several processes, one leads')
    .addHelpText('after', examples)
    .action((flags: SchedulerFlags) => schedule(flags))
  for (const flag of schedulerFlags()) command.addOption(flag)
  return command
}

async function schedule(flags: SchedulerFlags): Promise<void> {
  const stopping = stopSignal()
  const log = standardLog(flags.loggingFormat)
  const { startStandaloneScheduler } = await import('../../../../cluster/scheduler/standalone-scheduler.ts')
  const scheduler = await startStandaloneScheduler({
    ...flags,
    leaderElection: {
      leaderElect: flags.leaderElect,
      leaseMs: flags.leaderElectLeaseDuration,
      renewMs: flags.leaderElectRenewDeadline,
      retryMs: flags.leaderElectRetryPeriod,
      name: flags.leaderElectResourceName,
      namespace: flags.leaderElectResourceNamespace,
    },
    rateLimit: flags.kubeApiQps ? { qps: flags.kubeApiQps, burst: flags.kubeApiBurst ?? 100 } : undefined,
    port: flags.securePort === 0 ? undefined : flags.securePort,
    log,
  })
  try {
    if (scheduler.port !== undefined) log(`health and metrics on https://${flags.bindAddress}:${scheduler.port}`)
    surviveErrors(log)
    tuneAfterStart()
    const end = await Promise.race([scheduler.ended, stopping.requested])
    if (end === 'lost')
      throw new ExplainedError(
        'the lease was lost: another scheduler may lead now, so this one exits; restart it to wait for the lease',
      )
  } finally {
    await scheduler.stop()
  }
}
