/** `t8s port`: ports of this machine that lead to Services, while `t8s up` runs. */
import { Argument, Command, InvalidArgumentError } from 'commander'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { clusterEnvironment } from '../../../kubeconfig/find-cluster.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { mappingForm, mappingText, type PortMapping, parseHostPort } from '../../../network/ports/port-mapping.ts'
import { type ContextFlags, contextFlags } from '../../flags/context-flags.ts'
import { portMapping } from '../../flags/nodes/port-mapping-flag.ts'

const examples = `
Examples:
  t8s port add 8080:web:80                 http://127.0.0.1:8080 leads to the Service web
  t8s port add 5432:shop/db:postgres       a Service of another namespace, and a port by its name
  t8s port add 0.0.0.0:8080:web:80         also for other machines
  t8s port add 5353:kube-system/kube-dns:53/udp
  t8s port list
  t8s port remove 8080

It writes the ConfigMap kube-system/t8s-ports, which t8s up with a real node follows. kubectl can write it, too.
Mappings remain for later starts. Pods of simulated nodes do not answer.`

/** Time in ms for the report of a running cluster. */
const reportMs = 5_000

export function portCommand(): Command {
  const port = new Command('port')
    .description('map ports of this machine to Services while t8s up runs')
    .addHelpText('after', examples)
  const add = port
    .command('add')
    .addArgument(new Argument(`<${mappingForm}...>`, 'the mappings').argParser(collectMapping))
    .description('open ports, or change where they lead')
    .addHelpText('after', examples)
    .action((mappings: readonly PortMapping[], flags: ContextFlags) => withCluster(flags, (to) => open(to, mappings)))
  const remove = port
    .command('remove')
    .alias('rm')
    .addArgument(new Argument('<[ADDRESS:]PORT[/udp]>', 'the port of this machine').argParser(hostPort))
    .description('close a port')
    .action((given: HostPort, flags: ContextFlags) => withCluster(flags, (to) => close(to, given)))
  const list = port
    .command('list')
    .alias('ls')
    .description('list the ports, where they lead, and how they are')
    .action((flags: ContextFlags) => withCluster(flags, show))
  for (const command of [add, remove, list]) for (const flag of contextFlags()) command.addOption(flag)
  return port
}

type HostPort = NonNullable<ReturnType<typeof parseHostPort>>

const collectMapping = (text: string, previous: readonly PortMapping[] | undefined): readonly PortMapping[] => [
  ...(previous ?? []),
  portMapping(text),
]

function hostPort(text: string): HostPort {
  const found = parseHostPort(text)
  if (!found) throw new InvalidArgumentError('It must be a port of this machine such as 8080, 0.0.0.0:8080 or 53/udp.')
  return found
}

async function withCluster(flags: ContextFlags, run: (client: RestClient) => Promise<void>): Promise<void> {
  const { connectTo } = await import('../../../client/index.ts')
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  try {
    await run(client)
  } finally {
    client.close()
  }
}

async function open(client: RestClient, mappings: readonly PortMapping[]): Promise<void> {
  const { addMappings, reportsOf } = await import('../../../network/ports/stored-mappings.ts')
  await addMappings(client, mappings)
  const reports = await reportsOf(client, mappings, AbortSignal.timeout(reportMs))
  for (const mapping of mappings) print(`${mappingText(mapping)}: ${reports.get(mappingText(mapping)) ?? unserved}`)
}

const unserved =
  'stored, but nothing opens it: this cluster has no t8s up with a real node, and pods of simulated nodes do not answer'

async function close(client: RestClient, port: HostPort): Promise<void> {
  const { removeMapping } = await import('../../../network/ports/stored-mappings.ts')
  const removed = await removeMapping(client, port)
  if (removed === undefined)
    throw new ExplainedError(`port ${port.hostPort} on ${port.address} has no mapping: t8s port list shows all`)
  print(`${removed}: removed`)
}

async function show(client: RestClient): Promise<void> {
  const [{ table }, { readMappings }, { mappingsIn, statusesIn }, { hostText }] = await Promise.all([
    import('../../terminal/table.ts'),
    import('../../../network/ports/stored-mappings.ts'),
    import('../../../network/ports/mapping-object.ts'),
    import('../../../network/ports/port-mapping.ts'),
  ])
  const object = await readMappings(client)
  const statuses = statusesIn(object)
  const rows = [...mappingsIn(object)].map(([text, mapping]) => [
    mapping ? `${hostText(mapping)}/${mapping.protocol.toLowerCase()}` : text,
    mapping ? `${mapping.namespace}/${mapping.service}:${mapping.port}` : '',
    statuses.get(text) ?? 'not open yet',
  ])
  if (rows.length === 0) print('There are no mapped ports: add one with t8s port add 8080:web:80.')
  else print(...table(['PORT', 'SERVICE', 'STATUS'], rows))
}

const print = (...lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(''))
