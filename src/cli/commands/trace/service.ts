/** `t8s trace service`: the chains that a connection to a Service passes. */
import { readFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { Command, Option } from 'commander'
import { clusterEnvironment } from '../../../kubeconfig/find-cluster.ts'
import { type ContextFlags, contextFlags } from '../../flags/context-flags.ts'

const examples = `
Examples:
  t8s trace service web                          from this node to the cluster IP
  t8s trace service web --from client-7f9c       from a pod of the same namespace
  t8s trace service web -n shop --port https --from shop/cart
  t8s trace service web --node-port              from outside to the node port
  t8s trace service web --node-port --from 192.168.0.7

It reads the rules of iptables (both variants) and of nftables on this machine, follows the first packet of a
connection, and prints each rule that it meets, with the rule's counter; where rules choose at random, with the
probability of each choice. It knows the rules of kube-proxy in the modes nftables and iptables, in current and in older
forms, and those of network policies. It changes nothing. Reading rules needs root.
The exit code is 0 if the connection reaches endpoints that the API server has, else 1.`

interface TraceFlags extends ContextFlags {
  readonly namespace?: string
  readonly port?: string
  readonly from?: string
  readonly nodePort?: boolean
}

export function traceServiceCommand(): Command {
  const command = new Command('service')
    .argument('<NAME>', 'the name of the Service')
    .description('explain which rules a connection to a Service meets, and where it ends')
    .addOption(new Option('-n, --namespace <NAME>', 'the namespace (default: that of the context)'))
    .addOption(new Option('--port <PORT>', 'a port of the Service, by name or number (default: the first one)'))
    .addOption(
      new Option('--from <SENDER>', 'a pod (NAME or NAMESPACE/NAME), an address, outside, or node (default: node)'),
    )
    .addOption(new Option('--node-port', 'connect to the node port, by default from outside'))
    .addHelpText('after', examples)
    .action(async (name: string, flags: TraceFlags) => {
      process.exitCode = (await trace(name, flags)) ? 0 : 1
    })
  for (const flag of contextFlags()) command.addOption(flag)
  return command
}

async function trace(service: string, { namespace, port, from, nodePort, ...flags }: TraceFlags): Promise<boolean> {
  const [{ connectTo }, { traceService }, { runRulesProgram }] = await Promise.all([
    import('../../../client/connection/connect-to.ts'),
    import('../../../network/proxy/trace/trace-service.ts'),
    import('../../../network/cni/host-ports/run-rules-program.ts'),
  ])
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  try {
    const { lines, isReachable } = await traceService(
      { namespace: namespace ?? client.namespace, service, port, from, isNodePort: nodePort ?? false },
      {
        client,
        run: runRulesProgram,
        addresses: ownAddresses(),
        hostname: hostname(),
        virtualServers: virtualServers(),
      },
    )
    process.stdout.write(`${lines.join('\n')}\n`)
    return isReachable
  } finally {
    client.close()
  }
}

/** The kernel's table, which exists if IPVS is loaded. */
function virtualServers(): string {
  try {
    return readFileSync('/proc/net/ip_vs', 'utf8')
  } catch {
    return ''
  }
}

/** Addresses of all interfaces, those of loopback last, and those of links only left out. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const usable = all.filter(({ address }) => !address.startsWith('fe80'))
  return [...usable.filter(({ internal }) => !internal), ...usable.filter(({ internal }) => internal)].map(
    ({ address }) => address,
  )
}
