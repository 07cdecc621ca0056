/** `t8s dns`: only DNS, for any cluster. */
import { Command, InvalidArgumentError, Option } from 'commander'
import type { StandaloneDnsOptions } from '../../../../cluster/dns/standalone-dns.ts'
import { type LogFormat, standardLog } from '../../../../lib/log/log.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import * as flags from '../../../flags/flags.ts'
import { repeated } from '../../../flags/repeated.ts'
import { stopSignal } from '../../../running/stop-signal.ts'

const examples = `
Examples:
  t8s dns --kubeconfig .t8s/kubeconfig --port 5300                       for a cluster that runs here
  dig @127.0.0.1 -p 5300 kubernetes.default.svc.cluster.local
  t8s dns --bind-address 0.0.0.0 --upstream 192.0.2.53                   in a pod, as CoreDNS
  t8s dns --stub-domain corp.example=10.0.0.1,10.0.0.2                   other servers for names of a domain
  curl http://127.0.0.1:8181/ready                                       are the cluster's names known?`

interface DnsFlags extends Omit<StandaloneDnsOptions, 'log' | 'lameduckMs'> {
  readonly lameduck: number
  readonly loggingFormat?: LogFormat
}

export function dnsCommand(): Command {
  const command = new Command('dns')
    .description('run only DNS, for names of any cluster')
    .addHelpText('after', examples)
    .action((given: DnsFlags) => serve(given))
  for (const flag of [...listenerFlags(), ...zoneFlags(), ...forwardFlags()]) command.addOption(flag)
  return command
}

const listenerFlags = (): readonly Option[] => [
  new Option(
    '--kubeconfig <FILE>',
    'the cluster and the credentials (default: $KUBECONFIG, else .t8s/kubeconfig in this folder, else the service ' +
      'account of its pod)',
  ),
  new Option('--bind-address <IP>', 'address to listen on, also for health and metrics')
    .argParser(flags.bindAddress)
    .default('127.0.0.1'),
  new Option('--port <PORT>', 'port of UDP and TCP; 0 takes a free one').argParser(flags.port).default(53),
  new Option('--health-port <PORT>', 'port of /health; -1 for none').argParser(pagePort).default(8080),
  new Option('--ready-port <PORT>', 'port of /ready; -1 for none').argParser(pagePort).default(8181),
  new Option('--metrics-port <PORT>', 'port of /metrics; -1 for none').argParser(pagePort).default(9153),
  new Option('--lameduck <DURATION>', 'how long to go on answering after a signal to stop')
    .argParser(flags.durationMs)
    .default(5000, '5s'),
  new Option('--logging-format <FORMAT>', 'format of log lines').choices(['text', 'json']),
]

const zoneFlags = (): readonly Option[] => [
  new Option('--cluster-domain <DOMAIN>', 'domain of the cluster').default('cluster.local'),
  new Option('--ttl <SECONDS>', 'how long clients may remember names of the cluster').argParser(seconds).default(30),
  new Option('--pod-records <MODE>', 'names of pods such as 10-244-0-7.default.pod.cluster.local')
    .choices(['insecure', 'disabled'])
    .default('insecure'),
]

const forwardFlags = (): readonly Option[] => [
  new Option(
    '--upstream <SERVER>',
    'server for other names, or a file with servers; may be repeated (default: /etc/resolv.conf)',
  ).argParser(repeated),
  new Option('--stub-domain <DOMAIN=SERVERS>', 'servers for names of a domain; may be repeated').argParser(repeated),
  new Option('--cache-ttl <SECONDS>', 'longest time to cache answers of other servers; 0 for none')
    .argParser(seconds)
    .default(30),
]

async function serve({ lameduck, loggingFormat, ...given }: DnsFlags): Promise<void> {
  const stopping = stopSignal()
  const log = standardLog(loggingFormat)
  const { startStandaloneDns } = await import('../../../../cluster/dns/standalone-dns.ts')
  const server = await startStandaloneDns({ ...given, lameduckMs: lameduck, log })
  try {
    log(`dns: listening on ${given.bindAddress}, port ${server.port}`)
    void server.synced.then(() => log(`dns: the names in ${given.clusterDomain} are known`))
    surviveErrors(log)
    tuneAfterStart()
    await stopping.requested
  } finally {
    await server.stop()
  }
}

const pagePort = (text: string): number => (text === '-1' ? -1 : flags.port(text))

function seconds(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds, such as 30.')
  return Number(text)
}
