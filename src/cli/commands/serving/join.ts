/** `t8s join`: makes this machine a node of a cluster, and runs it in the foreground until a signal stops it. */
import { Argument, Command, Option } from 'commander'
import { standardLog } from '../../../lib/log/log.ts'
import { releaseMemoryWhenIdle } from '../../../lib/process/memory/release-memory.ts'
import { tuneAfterStart } from '../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../lib/process/unhandled-errors.ts'
import { type JoinFlags, joinFlags, joinOptions } from '../../flags/nodes/join-flags.ts'
import { stopSignal } from '../../running/stop-signal.ts'

const examples = `
Examples:
  t8s token create --print-join-command           on the machine of t8s up, started with --bind-address 0.0.0.0
  t8s join https://192.0.2.1:6443 --token abcdef.0123456789abcdef \\
    --discovery-token-ca-cert-hash sha256:…       on this machine, as root
  t8s join                                        continues later: the node has a certificate, and needs no token
  t8s leave                                       ends it: deletes the Node, and all files

Ctrl-C ends the pods of this machine. Its Node remains, and becomes NotReady (docs/many-nodes.md).`

export function joinCommand(): Command {
  const command = new Command('join')
    .description('make this machine a node of a cluster')
    .addArgument(new Argument('[URL]', 'the server: https://192.0.2.1:6443 (default: that of the last start)'))
    .addHelpText('after', examples)
    .action((url: string | undefined, flags: JoinFlags) => join(url, flags))
  for (const flag of joinFlags()) command.addOption(flag)
  command.addOption(new Option('--reset', 'leave the cluster of an earlier start first, as t8s leave --force does'))
  return command
}

async function join(url: string | undefined, flags: JoinFlags): Promise<void> {
  const stopping = stopSignal()
  const starting = new AbortController()
  void stopping.requested.then(() => starting.abort())
  const options = joinOptions(url, flags)
  if (flags.reset) {
    const { leaveNode } = await import('../../../cluster/joining/node/leave-node.ts')
    await leaveNode({ directory: flags.dataDir, isForced: true, isReset: true, log: print })
  }
  const { joinNode } = await import('../../../cluster/joining/node/join-node.ts')
  const log = standardLog(undefined)
  const node = await joinNode({ ...options, log: print, signal: starting.signal })
  try {
    print(`this machine is the node ${node.nodeName}${node.hasContinued ? ' again' : ''}: kubectl get nodes shows it`)
    print('Ctrl-C stops it')
    surviveErrors(log)
    tuneAfterStart()
    releaseMemoryWhenIdle()
    print(`stopping after ${await stopping.requested}: its pods end`)
  } finally {
    await node.stop()
  }
  print('stopped; t8s join continues, t8s leave deletes the node')
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
