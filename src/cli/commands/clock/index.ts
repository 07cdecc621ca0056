/** `t8s clock`: shows and moves the clock of a cluster. */
import { Command, InvalidArgumentError } from 'commander'
import { type ClockState, clockPath, type StepResult } from '../../../apiserver/clock/clock-control.ts'
import type { Client } from '../../../client/connection/connect-to.ts'
import { clusterEnvironment } from '../../../kubeconfig/find-cluster.ts'
import { parseDurationMs } from '../../../lib/duration.ts'
import { type ContextFlags, contextFlags } from '../../flags/context-flags.ts'
import { ProgressLine } from '../../terminal/progress-line.ts'

const examples = `
Examples:
  t8s clock                   shows the time of the cluster
  t8s clock pause             stops it; what needs no time still happens
  t8s clock step 1h           moves it forward, from one event to the next
  t8s clock speed 60          an hour in a minute
  t8s clock resume            lets it go on as the clock of the machine

Leases, CronJobs, times to live, back-offs and simulated nodes follow the clock.
Other programs, certificates and real nodes do not (docs/clock.md).`

export function clockCommand(): Command {
  const clock = new Command('clock')
    .description('show, pause, step or speed up the clock of a cluster')
    .addHelpText('after', examples)
  does(clock, (client) => client.read(clockPath))
  does(clock.command('pause').description('stop the clock'), (client) => order(client, 'pause'))
  does(clock.command('resume').description('let the clock go on at its usual speed'), (client) =>
    order(client, 'resume'),
  )
  const stepCommand = clock
    .command('step')
    .argument('<DURATION>', 'how far to move the clock: 90s, 1h30m', duration)
    .description('move the clock forward, and wait until what is due has been done')
  does(stepCommand, step)
  const speedCommand = clock
    .command('speed')
    .argument('<FACTOR>', 'how much faster than the clock of the machine: above 0, up to 1000', Number)
    .description('let the clock run faster, or slower')
  does(speedCommand, (client, speed) => order(client, 'speed', { speed }))
  return clock
}

/** Sets what a command does, with its argument if it has one. The command shows the clock afterwards. */
function does(command: Command, act: (client: Client, argument: number) => Promise<ClockState>): void {
  for (const flag of contextFlags()) command.addOption(flag)
  command.action(() => withCluster(command.optsWithGlobals(), (client) => act(client, command.processedArgs[0])))
}

const order = <T extends ClockState>(client: Client, action: string, body?: object): Promise<T> =>
  client.request<T>('POST', `${clockPath}/${action}`, { body })

function duration(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new InvalidArgumentError('Expected a duration, such as 90s or 1h30m.')
  return ms
}

/** Long steps take several requests. */
async function step(client: Client, ms: number): Promise<ClockState> {
  const progress = new ProgressLine(process.stderr)
  try {
    for (let left = ms; ; ) {
      const state = await order<StepResult>(client, 'step', { ms: left })
      left = state.remainingMs
      if (left <= 0) return state
      progress.showSteps('seconds', Math.floor((ms - left) / 1000), Math.ceil(ms / 1000))
    }
  } finally {
    progress.end()
  }
}

/** Prints the state of the clock after an action. Rejects with an ExplainedError if the cluster has none to move. */
async function withCluster(flags: ContextFlags, act: (client: Client) => Promise<ClockState>): Promise<void> {
  const [{ connectTo }, { StatusError }, { ExplainedError }] = await Promise.all([
    import('../../../client/index.ts'),
    import('../../../machinery/status-error.ts'),
    import('../../../lib/explained-error.ts'),
  ])
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  try {
    process.stdout.write(`${shown(await act(client))}\n`)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.code === 404)
      throw new ExplainedError('this cluster has no clock that can be moved: only those of t8s up and t8s run have one')
    throw new ExplainedError(error.message, { cause: error })
  } finally {
    client.close()
  }
}

function shown({ time, speed }: ClockState): string {
  if (speed === 0) return `${time} (paused)`
  return speed === 1 ? time : `${time} (${speed} times as fast as the machine's clock)`
}
