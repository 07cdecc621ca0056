/** `t8s scale nodes`: how many simulated nodes a running cluster has. */
import { Argument, Command, Option } from 'commander'
import { clusterEnvironment } from '../../kubeconfig/find-cluster.ts'
import { type ContextFlags, contextFlags } from '../flags/context-flags.ts'
import { nodeCount } from '../flags/node-flags.ts'

const examples = `
Examples:
  t8s scale nodes 50          while t8s up, or t8s simulated-nodes, runs
  t8s scale nodes 0           the nodes go; their pods follow after a while
  t8s scale nodes 5 --owner simulated-nodes
                              where t8s up and t8s simulated-nodes both run

It writes the owner's ConfigMap (kube-system/simulated-nodes for t8s up), which the simulation follows: kubectl can do that, too.`

interface ScaleFlags extends ContextFlags {
  readonly owner?: string
}

export function scaleCommand(): Command {
  const scale = new Command('scale').description('change how many simulated nodes there are')
  const command = scale
    .command('nodes')
    .addArgument(new Argument('<NUMBER>', 'how many there shall be').argParser(nodeCount))
    .description('change how many simulated nodes there are, while they run')
    .addOption(
      new Option(
        '--owner <NAME>',
        'whose nodes: up, or what t8s simulated-nodes has as --owner (default: the only owner there is)',
      ),
    )
    .addHelpText('after', examples)
    .action(async (count: number, flags: ScaleFlags) => {
      const before = await scaleNodes(count, flags)
      process.stdout.write(
        before === count ? `${count} nodes, as before\n` : `${count} nodes wanted, ${before} before\n`,
      )
    })
  for (const flag of contextFlags()) command.addOption(flag)
  return scale
}

/**
 * Resolves with how many were wanted before. Rejects with an ExplainedError where nodes are not simulated, and where
 * several owners have some.
 */
async function scaleNodes(count: number, { owner, ...flags }: ScaleFlags): Promise<number> {
  const [{ connectTo, configMaps }, { fleetConfigMapOf, fleetSizeKey, ownerLabel }, { ExplainedError }] =
    await Promise.all([
      import('../../client/index.ts'),
      import('../../simulation/index.ts'),
      import('../../lib/explained-error.ts'),
    ])
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  try {
    const { items } = await client.list(configMaps, { namespace: 'kube-system', labelSelector: ownerLabel })
    const owners = items.map(({ metadata }) => metadata.labels?.[ownerLabel] ?? '')
    const start = `start the cluster with t8s up --nodes ${count}, or run t8s simulated-nodes`
    if (owner === undefined && owners.length > 1)
      throw new ExplainedError(`${owners.join(' and ')} both have simulated nodes: choose one by --owner NAME`)
    const meant = owner ?? owners[0]
    if (meant === undefined) throw new ExplainedError(`there are no simulated nodes: ${start}`)
    if (!owners.includes(meant))
      throw new ExplainedError(
        `${meant} has no simulated nodes: ${owners.length > 0 ? `the owners are ${owners.join(', ')}` : start}`,
      )
    const { namespace, name } = fleetConfigMapOf(meant)
    const before = items.find(({ metadata }) => metadata.name === name)?.data?.[fleetSizeKey]
    await client.patch(configMaps, namespace, name, { data: { [fleetSizeKey]: `${count}` } }, 'merge')
    return Number(before ?? 0)
  } finally {
    client.close()
  }
}
