/** `t8s node`: makes a simulated node fail and recover, to test controllers. */
import { Command, Option } from 'commander'
import { clusterEnvironment } from '../../../kubeconfig/find-cluster.ts'
import { type ContextFlags, contextFlags } from '../../flags/context-flags.ts'

/** Copy of `failures` of the simulation, which is loaded only when needed. */
const failureModes = ['not-ready', 'gone', 'disk-pressure', 'memory-pressure', 'pid-pressure']

const examples = `
Examples:
  t8s node fail node-2 --how not-ready       its kubelet reports that the container runtime is down
  t8s node fail node-2 --how gone            its heartbeats stop: after 50 s it is Unknown, later its pods are evicted
  t8s node fail node-2 --how disk-pressure   it accepts no new pods, and evicts one pod every 10 s
  t8s node recover node-2

It sets the annotation simulation.typernetes.io/failure of the node, which kubectl can set, too.`

export function nodeCommand(): Command {
  const node = new Command('node').description('make a simulated node fail or recover').addHelpText('after', examples)
  const fail = node
    .command('fail')
    .argument('<NAME>', 'the node')
    .description('make a simulated node fail')
    .addOption(new Option('--how <WAY>', 'the failure').choices(failureModes).default('not-ready'))
    .addHelpText('after', examples)
    .action(async (name: string, { how, ...flags }: ContextFlags & { how: string }) => {
      await setFailure(name, how, flags)
      process.stdout.write(`${name} fails: ${how}\n`)
    })
  const recover = node
    .command('recover')
    .argument('<NAME>', 'the node')
    .description('end the failure of a simulated node')
    .action(async (name: string, flags: ContextFlags) => {
      await setFailure(name, null, flags)
      process.stdout.write(`${name} has recovered\n`)
    })
  for (const command of [fail, recover]) for (const flag of contextFlags()) command.addOption(flag)
  return node
}

/** Rejects with an ExplainedError for a node that is not simulated. */
async function setFailure(name: string, how: string | null, flags: ContextFlags): Promise<void> {
  const [{ connectTo, nodes }, { failureAnnotation, nodeLabel }, { ExplainedError }] = await Promise.all([
    import('../../../client/index.ts'),
    import('../../../simulation/index.ts'),
    import('../../../lib/explained-error.ts'),
  ])
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  try {
    const node = await client.find(nodes, '', name)
    if (!node) throw new ExplainedError(`there is no node ${name}: list the nodes with kubectl get nodes`)
    if (node.metadata.labels?.[nodeLabel] === undefined)
      throw new ExplainedError(`${name} is not a simulated node: only simulated nodes can be made to fail`)
    await client.patch(nodes, '', name, { metadata: { annotations: { [failureAnnotation]: how } } }, 'merge')
  } finally {
    client.close()
  }
}
