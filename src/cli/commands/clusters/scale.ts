/** `t8s scale nodes`: changes the number of simulated nodes of a running cluster. */
import { Argument, Command, Option } from 'commander'
import { clusterEnvironment } from '../../../kubeconfig/find-cluster.ts'
import { type ContextFlags, contextFlags } from '../../flags/context-flags.ts'
import { nodeCount } from '../../flags/nodes/node-flags.ts'

const examples = `
Examples:
  t8s scale nodes 50          while t8s up or t8s simulated-nodes is running
  t8s scale nodes 0           deletes the nodes; their pods are evicted later
  t8s scale nodes 5 --owner simulated-nodes
                              if t8s up and t8s simulated-nodes are both running

It writes the owner's ConfigMap (kube-system/simulated-nodes for t8s up), which the simulation watches. kubectl can
write it, too.`

interface ScaleFlags extends ContextFlags {
  readonly owner?: string
}

export function scaleCommand(): Command {
  const scale = new Command('scale').description('change the number of simulated nodes')
  const command = scale
    .command('nodes')
    .addArgument(new Argument('<NUMBER>', 'the number of nodes').argParser(nodeCount))
    .description('change the number of simulated nodes while they run')
    .addOption(
      new Option(
        '--owner <NAME>',
        'the owner of the nodes: up, or the --owner of t8s simulated-nodes (default: the only owner)',
      ),
    )
    .addHelpText('after', examples)
    .action(async (count: number, flags: ScaleFlags) => {
      const before = await scaleNodes(count, flags)
      process.stdout.write(
        before === count ? `${count} nodes, unchanged\n` : `scaled from ${before} to ${count} nodes\n`,
      )
    })
  for (const flag of contextFlags()) command.addOption(flag)
  return scale
}

/**
 * Resolves with the previous number. Rejects with an ExplainedError if there are no simulated nodes, and if several
 * owners have some.
 */
async function scaleNodes(count: number, { owner, ...flags }: ScaleFlags): Promise<number> {
  const [{ connectTo, configMaps }, { fleetConfigMapOf, fleetSizeKey, ownerLabel }, { ExplainedError }] =
    await Promise.all([
      import('../../../client/index.ts'),
      import('../../../simulation/index.ts'),
      import('../../../lib/explained-error.ts'),
    ])
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  try {
    const { items } = await client.list(configMaps, { namespace: 'kube-system', labelSelector: ownerLabel })
    const owners = items.map(({ metadata }) => metadata.labels?.[ownerLabel] ?? '')
    const start = `start the cluster with t8s up --nodes ${count}, or run t8s simulated-nodes`
    if (owner === undefined && owners.length > 1)
      throw new ExplainedError(`${owners.join(' and ')} have simulated nodes: choose one with --owner NAME`)
    const target = owner ?? owners[0]
    if (target === undefined) throw new ExplainedError(`there are no simulated nodes: ${start}`)
    if (!owners.includes(target))
      throw new ExplainedError(
        `${target} has no simulated nodes: ${owners.length > 0 ? `the owners are ${owners.join(', ')}` : start}`,
      )
    const { namespace, name } = fleetConfigMapOf(target)
    const before = items.find(({ metadata }) => metadata.name === name)?.data?.[fleetSizeKey]
    await client.patch(configMaps, namespace, name, { data: { [fleetSizeKey]: `${count}` } }, 'merge')
    return Number(before ?? 0)
  } finally {
    client.close()
  }
}
