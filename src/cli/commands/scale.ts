/** `t8s scale nodes`: how many simulated nodes a running cluster has. */
import { Argument, Command } from 'commander'
import { type ContextFlags, contextFlags } from '../flags/context-flags.ts'
import { nodeCount } from '../flags/node-flags.ts'

const examples = `
Examples:
  t8s scale nodes 50          while t8s up, or t8s simulated-nodes, runs
  t8s scale nodes 0           the nodes go; their pods follow after a while

It writes the ConfigMap kube-system/simulated-nodes, which the simulation follows: kubectl can do that, too.`

export function scaleCommand(): Command {
  const scale = new Command('scale').description('change how many simulated nodes there are')
  const command = scale
    .command('nodes')
    .addArgument(new Argument('<NUMBER>', 'how many there shall be').argParser(nodeCount))
    .description('change how many simulated nodes there are, while they run')
    .addHelpText('after', examples)
    .action(async (count: number, flags: ContextFlags) => {
      const before = await scaleNodes(count, flags)
      process.stdout.write(before === count ? `${count} nodes, as before\n` : `${count} nodes wanted, ${before} before\n`)
    })
  for (const flag of contextFlags()) command.addOption(flag)
  return scale
}

/** Resolves with how many were wanted before. Rejects with an ExplainedError where nodes are not simulated. */
async function scaleNodes(count: number, flags: ContextFlags): Promise<number> {
  const [{ connectTo, configMaps, StatusError }, { fleetConfigMap, fleetSizeKey }, { ExplainedError }] = await Promise.all([
    import('../../client/index.ts'),
    import('../../simulation/index.ts'),
    import('../../lib/explained-error.ts'),
  ])
  const client = await connectTo({ ...flags, userAgent: 't8s' })
  const { namespace, name } = fleetConfigMap
  try {
    const { data } = await client.get(configMaps, namespace, name)
    await client.patch(configMaps, namespace, name, { data: { [fleetSizeKey]: `${count}` } }, 'merge')
    return Number(data?.[fleetSizeKey] ?? 0)
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error
    throw new ExplainedError(
      `there are no simulated nodes: the ConfigMap ${namespace}/${name} is missing; start the cluster with t8s up --nodes ${count}, or run t8s simulated-nodes`,
      { cause: error },
    )
  } finally {
    client.close()
  }
}
