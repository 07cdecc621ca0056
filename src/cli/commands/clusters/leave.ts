/** `t8s leave`: ends that this machine is a node of a cluster. */
import { Command, Option } from 'commander'
import { defaultNodeFolder } from '../../../cluster/joining/node/node-folder.ts'

const help = `
It evicts the node's pods, deletes its Node, and removes its containers, volumes, interfaces, rules, cgroups and files.
Stop t8s join before.`

interface LeaveFlags {
  readonly dataDir: string
  readonly force?: boolean
}

export const leaveCommand = (): Command =>
  new Command('leave')
    .description('end that this machine is a node, after t8s join')
    .addOption(new Option('--data-dir <DIR>', 'the folder of the files of the node').default(defaultNodeFolder))
    .addOption(
      new Option('--force', 'ignore disruption budgets, and remove the files although the server does not answer'),
    )
    .addHelpText('after', help)
    .action(async ({ dataDir: directory, force = false }: LeaveFlags) => {
      const { leaveNode } = await import('../../../cluster/joining/node/leave-node.ts')
      await leaveNode({ directory, isForced: force, log: (line) => void process.stdout.write(`${line}\n`) })
    })
