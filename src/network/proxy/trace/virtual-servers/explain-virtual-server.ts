/** Explains a connection to a virtual server of IPVS in plain words. */
import { endpointText } from '../../picture/endpoint.ts'
import { differencesFromApi, type ExplainOptions, type Explanation, podText } from '../explain.ts'
import { percentText } from '../step-text.ts'
import type { TracedServer, TracedVirtualServer } from './parse-table.ts'

/** Schedulers whose servers get connections by their weight. */
const byWeight: readonly string[] = ['rr', 'wrr']

export function explainVirtualServer(virtual: TracedVirtualServer, options: ExplainOptions): Explanation {
  const used = virtual.servers.filter(({ weight }) => weight > 0)
  const differences = differencesFromApi(new Set(used.map(endpointText)), options)
  const lines = [
    'IPVS:',
    `  the virtual server ${virtual.protocol} ${endpointText(virtual)} chooses by the scheduler ${virtual.scheduler}` +
      (virtual.isPersistent ? '; clients stay with a server by affinity' : ''),
    ...virtual.servers.map((server) => `    ${serverText(server, options)}`),
    '',
    'Result:',
    ...resultLines(virtual, used, options),
    '',
    ...differences.lines,
    'Not followed: rules that masquerade and filter by sets, after IPVS. `iptables-save` and `ipset list` show them.',
  ]
  return { lines, isReachable: used.length > 0 && !differences.isStale }
}

function serverText(server: TracedServer, { podOf }: ExplainOptions): string {
  const { weight, active, inactive, forwarding } = server
  const leaves = weight === 0 ? ', which gets no new connections' : ''
  const method = forwarding === 'Masq' || forwarding === 'Local' ? '' : `, forwarded by ${forwarding}`
  const counts = `connections: ${active} open, ${inactive} after their end`
  return `${endpointText(server)}${podText(podOf(server.address))}: weight ${weight}${leaves}${method}  [${counts}]`
}

function resultLines(
  { scheduler }: TracedVirtualServer,
  used: readonly TracedServer[],
  { podOf }: ExplainOptions,
): string[] {
  if (used.length === 0) return ['  100 % rejected by IPVS: no server gets new connections']
  const sum = used.reduce((total, { weight }) => total + weight, 0)
  return used.map((server) => {
    const isShared = byWeight.includes(scheduler) || used.length === 1
    const part = isShared ? percentText(server.weight / sum) : `a part, by the scheduler ${scheduler},`
    return `  ${part} reaches ${endpointText(server)}${podText(podOf(server.address))}`
  })
}
