/** `t8s simulated-nodes`: only simulated nodes, for any API server. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { clusterEnvironment } from '../../../../kubeconfig/find-cluster.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { type ContextFlags, contextFlags } from '../../../flags/context-flags.ts'
import * as flags from '../../../flags/flags.ts'
import { type NodeFlags, nodeFlags, simulatedNodes } from '../../../flags/nodes/node-flags.ts'
import { stopSignal } from '../../../running/stop-signal.ts'

interface SimulatedNodesFlags extends NodeFlags, ContextFlags {
  readonly owner: string
  readonly kubeletAddress: string
  readonly kubeletPort: number
  readonly clientCaFile?: string
}

const examples = `
Examples:
  t8s simulated-nodes --kubeconfig admin.conf --nodes 100
  t8s simulated-nodes --nodes 5 --kubelet-address 192.0.2.7    if the API server runs on another machine
  t8s simulated-nodes --nodes 3 --owner jane                   in a cluster with other simulated nodes

The nodes remain when it ends, and become NotReady later; after a restart it continues with them. The label
simulation.typernetes.io/owner has the owner's name. Nodes of other owners, such as those of t8s up, and real kubelets
are never changed; new nodes skip their names.
t8s scale nodes and t8s node fail work as with t8s up.`

export function simulatedNodesCommand(): Command {
  const command = new Command('simulated-nodes')
    .description('simulate nodes for any API server')
    .addOption(
      new Option('--owner <NAME>', 'the name of this fleet of nodes').default('simulated-nodes').argParser(ownerName),
    )
    .addOption(
      new Option(
        '--kubelet-address <IP>',
        'the address at which the API server reaches this machine, for logs, exec and metrics',
      )
        .default('127.0.0.1')
        .argParser(flags.bindAddress),
    )
    .addOption(
      new Option('--kubelet-port <PORT>', "the port of the kubelets' server; 0 for any free one")
        .default(0)
        .argParser(flags.port),
    )
    .addOption(
      new Option(
        '--client-ca-file <FILE>',
        'authorities of kubelet clients (default: those that the API server publishes)',
      ),
    )
    .addHelpText('after', examples)
    .action((given: SimulatedNodesFlags) => simulate(given))
  for (const flag of [...contextFlags(), ...nodeFlags()]) command.addOption(flag)
  return command
}

function ownerName(text: string): string {
  if (text === 'up') throw new InvalidArgumentError("'up' is the owner of the nodes of t8s up: choose another name.")
  if (!/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/.test(text))
    throw new InvalidArgumentError('It must be up to 40 small letters, digits and dashes, such as jane.')
  return text
}

async function simulate(given: SimulatedNodesFlags): Promise<void> {
  const stopping = stopSignal()
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  const [{ loadAccess }, { runSimulation }, { issueCertificate, makeAuthority }, { readAuthorities }] =
    await Promise.all([
      import('../../../../client/index.ts'),
      import('../../../../simulation/index.ts'),
      import('../../../../lib/x509/certificates.ts'),
      import('../../../../cluster/credentials/identity-files.ts'),
    ])
  const nodes = await simulatedNodes(given)
  const access = await loadAccess({ ...given, environment: await clusterEnvironment(given) })
  const authority = await makeAuthority('simulated-nodes', new Date())
  const hosts = [...new Set([given.kubeletAddress, '127.0.0.1', 'localhost'])]
  const tls = await issueCertificate(authority, { commonName: 'kubelet', usage: 'server', hosts }, new Date())
  const kubelet = {
    address: given.kubeletAddress,
    port: given.kubeletPort,
    tls,
    ...(given.clientCaFile && { clientCA: readAuthorities(given.clientCaFile, '--client-ca-file') }),
  }
  const running = runSimulation(
    { owner: given.owner, fleet: { size: nodes.count, groups: nodes.groups }, stages: nodes.stages, kubelet },
    access,
    print,
  )
  try {
    await Promise.race([running.started, stopping.requested])
    print(`simulating nodes of ${access.url}; Ctrl-C stops it`)
    surviveErrors(print)
    tuneAfterStart()
    await stopping.requested
  } finally {
    await running.stop()
  }
  print('stopped')
}
