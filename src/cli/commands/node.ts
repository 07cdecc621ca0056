/** `t8s node`: makes a simulated node fail, and recover, to see what controllers do. */
import { Command, Option } from 'commander'
import { clusterEnvironment } from '../../kubeconfig/find-cluster.ts'
import { type ContextFlags, contextFlags } from '../flags/context-flags.ts'

/** As `failures` of the simulation, which is loaded only when it is needed. */
const ways = ['not-ready', 'gone', 'disk-pressure', 'memory-pressure', 'pid-pressure']

const examples = `
Examples:
  t8s node fail node-2 --how not-ready       its kubelet says that the container runtime is down
  t8s node fail node-2 --how gone            nothing is heard of it: after 50 s it is Unknown, and in time its pods go
  t8s node fail node-2 --how disk-pressure   it takes no new pods, and evicts those that it has, one every 10 s
  t8s node recover node-2

It sets the annotation simulation.typernetes.io/failure of the node: kubectl can do that, too.`

export function nodeCommand(): Command {
  const node = new Command('node').description('make a simulated node fail, and recover').addHelpText('after', examples)
  const fail = node
    .command('fail')
    .argument('<NAME>', 'the node')
    .description('make a simulated node fail')
    .addOption(new Option('--how <WAY>', 'what is wrong with it').choices(ways).default('not-ready'))
    .addHelpText('after', examples)
    .action(async (name: string, { how, ...flags }: ContextFlags & { how: string }) => {
      await setFailure(name, how, flags)
      process.stdout.write(`${name} fails: ${how}\n`)
    })
  const recover = node
    .command('recover')
    .argument('<NAME>', 'the node')
    .description('let a simulated node work again')
    .action(async (name: string, flags: ContextFlags) => {
      await setFailure(name, null, flags)
      process.stdout.write(`${name} works again\n`)
    })
  for (const command of [fail, recover]) for (const flag of contextFlags()) command.addOption(flag)
  return node
}

/** Rejects with an ExplainedError for a node that is none of the simulation's. */
async function setFailure(name: string, how: string | null, flags: ContextFlags): Promise<void> {
  const [{ connectTo, nodes }, { failureAnnotation, nodeLabel }, { ExplainedError }] = await Promise.all([
    import('../../client/index.ts'),
    import('../../simulation/index.ts'),
    import('../../lib/explained-error.ts'),
  ])
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  try {
    const node = await client.find(nodes, '', name)
    if (!node) throw new ExplainedError(`there is no node ${name}: kubectl get nodes lists them`)
    if (node.metadata.labels?.[nodeLabel] === undefined)
      throw new ExplainedError(`${name} is no simulated node: only those can be made to fail`)
    await client.patch(nodes, '', name, { metadata: { annotations: { [failureAnnotation]: how } } }, 'merge')
  } finally {
    client.close()
  }
}
