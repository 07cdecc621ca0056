/** Ports of Services for tests of rules. */
import type { Endpoint } from '../../../picture/endpoint.ts'
import type { ProxiedPort } from '../../../picture/service-picture.ts'
import type { RuleOptions } from './rule-options.ts'

export const anEndpoint = (address: string, port = 80, rest: Partial<Endpoint> = {}): Endpoint => ({
  ...{ address, port, isLocal: true, isReady: true, isServing: true, isTerminating: false, zones: [], nodes: [] },
  ...rest,
})

/** `default/nginx:http` at 10.96.0.7:80, with the endpoints for the policy `Cluster`, and those for `Local`. */
export function aPort(
  rest: Partial<ProxiedPort> = {},
  cluster: readonly Endpoint[] = [anEndpoint('172.17.0.4')],
  local: readonly Endpoint[] = [],
): ProxiedPort {
  return {
    ...{ namespace: 'default', service: 'nginx', name: 'http', protocol: 'TCP', clusterIP: '10.96.0.7', port: 80 },
    ...{ nodePort: 0, externalIPs: [], loadBalancerIPs: [], loadBalancerSourceRanges: [], healthCheckNodePort: 0 },
    ...{ affinitySeconds: undefined, isExternalLocal: false, isInternalLocal: false },
    endpoints: {
      cluster,
      local,
      reachable: [...new Set([...cluster, ...local])],
      hasAny: cluster.length > 0,
      all: cluster,
    },
    ...rest,
  }
}

export const someOptions: RuleOptions = {
  family: 4,
  nodeAddress: '192.168.0.2',
  nodePortAddresses: { isAll: true, addresses: [] },
  localTraffic: { kind: 'cidrs', cidrs: ['172.17.0.0/16'] },
  masqueradeAll: false,
  masqueradeMark: '0x4000',
  hasRandomFully: true,
  localhostNodePorts: true,
  isConntrackLiberal: false,
}
