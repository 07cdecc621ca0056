/**
 * The iptables mode of kube-proxy with many Services, in both variants: a sync of all beside `iptables-restore` with
 * the same input, and syncs of one Service. Runs in the namespaces of `measure.ts`.
 */
import { runRulesProgram } from '../../src/network/cni/host-ports/run-rules-program.ts'
import type { IptablesVariant } from '../../src/network/iptables/iptables-programs.ts'
import { createIptablesMode } from '../../src/network/proxy/modes/iptables/iptables-mode.ts'
import { median } from '../report.ts'
import { ManyServices } from './many-services.ts'

const endpointsPerService = 2
const rounds = 10

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
  const many = new ManyServices(count, endpointsPerService)
  const first = await timed(() => mode.sync(many.picture, 'all'))
  const full = await timed(() => mode.sync(many.picture, 'all'))
  const sameInput = await timed(() => restore(variant, restored))
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    many.setEndpoints(round, ['10.99.0.1', '10.99.0.2'])
    times.push(await timed(() => mode.sync(many.picture, many.update())))
  }
  const name = `iptables-${variant}`
  const ratio = (full / sameInput).toFixed(2)
  console.log(`${name} first sync of ${count} Services: ${seconds(first)}`)
  console.log(`${name} sync of all: ${seconds(full)}, ${ratio} of feeding the same text (bound: 1.5)`)
  console.log(`${name} one Service of ${count} changes: ${seconds(median(times))} (bound: 0.3 s)`)
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
