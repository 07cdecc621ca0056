/**
 * The iptables mode of kube-proxy with many Services, in both variants: a sync of all beside `iptables-restore` with
 * the same input, and syncs of one Service. Runs in namespaces of its own.
 */
import { runRulesProgram } from '../../src/network/cni/host-ports/run-rules-program.ts'
import { createIptablesMode } from '../../src/network/proxy/modes/iptables/iptables-mode.ts'
import type { IptablesVariant } from '../../src/network/proxy/modes/iptables/iptables-programs.ts'
import { PictureOfServices } from '../../src/network/proxy/picture/service-picture.ts'
import { median } from '../report.ts'

const endpointsPerService = 2
const rounds = 3

/** @param count Services, each with one port and two endpoints */
export async function measureIptables(count: number): Promise<void> {
  for (const variant of ['nft', 'legacy'] as const) await measureVariant(variant, count)
}

async function measureVariant(variant: IptablesVariant, count: number): Promise<void> {
  let restored = ''
  const mode = createIptablesMode(
    {
      ...{ family: 4, node: 'here', nodeAddress: '192.0.2.1', masqueradeAll: false, masqueradeBit: 14 },
      ...{ localhostNodePorts: false, servedInterfaces: undefined, instance: undefined, now: Date.now },
      log: () => {},
      nodePortAddresses: () => ({ isAll: true, addresses: [] }),
      localTraffic: { kind: 'cidrs', cidrs: ['10.244.0.0/16'] },
      runProgram(program, args, input) {
        if (input !== undefined) restored = input
        return runRulesProgram(program, args, input)
      },
    },
    variant,
  )
  const services = new PictureOfServices(4, { node: 'here', zone: '' })
  for (let index = 0; index < count; index++) setService(services, index, 0)
  services.update()
  const first = await timed(() => mode.sync(services.picture, 'all'))
  // Without the jumps that the first one inserts.
  await mode.sync(services.picture, 'all')
  const sameInput: number[] = []
  const full: number[] = []
  for (let round = 0; round < rounds; round++) {
    sameInput.push(await timed(() => restore(variant, restored)))
    full.push(await timed(() => mode.sync(services.picture, 'all')))
  }
  const one = async (change: (round: number) => void): Promise<number> => {
    const times: number[] = []
    for (let round = 1; round <= rounds; round++) {
      change(round)
      times.push(await timed(() => mode.sync(services.picture, services.update())))
    }
    return median(times)
  }
  const endpoints = await one((round) => setService(services, 7, round))
  const added = await one((round) => setService(services, count + round, 0))
  const text = [
    `iptables-${variant}, ${count} Services × ${endpointsPerService} endpoints:`,
    `first sync ${seconds(first)}, sync of all ${seconds(median(full))}`,
    `(iptables-restore with the same input ${seconds(median(sameInput))}:`,
    `${(median(full) / median(sameInput)).toFixed(2)}×);`,
    `new endpoints of one Service ${seconds(endpoints)}, one more Service ${seconds(added)}`,
  ]
  console.log(text.join(' '))
  await mode.cleanUp()
}

const restore = (variant: IptablesVariant, input: string): Promise<string> =>
  runRulesProgram(`iptables-${variant}-restore`, ['-w', '5', '-W', '100000', '--noflush', '--counters'], input)

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/** Sets the Service number `index`, whose endpoints depend on `version`. */
function setService(services: PictureOfServices, index: number, version: number): void {
  const metadata = { namespace: 'default', name: `service-${index}` }
  const clusterIP = `10.96.${index >> 8}.${index & 255}`
  const spec = { clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80, protocol: 'TCP' }] }
  services.setService({ apiVersion: 'v1', kind: 'Service', metadata, spec }, undefined)
  const endpoints = Array.from({ length: endpointsPerService }, (_, endpoint) => ({
    addresses: [`10.${100 + 2 * version + endpoint}.${index >> 8}.${index & 255}`],
  }))
  services.setSlice(
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints,
    },
    undefined,
  )
}
