/** The measurements of `--policies`. Runs in namespaces of its own (`index.ts`). */
import { systemCalls } from '../../src/lib/linux/system-calls.ts'
import { TableSocket } from '../../src/network/netlink/nftables/table-socket.ts'
import { PolicyTable } from '../../src/network/policy/nftables/policy-table.ts'
import { NodePolicies } from '../../src/network/policy/rules/node-policies.ts'
import { median } from '../report.ts'
import { benchNode, ManyPolicies } from './many-policies.ts'

const [pods, policies, changes] = [1000, 100, 30]

/** The time of this process and of the kernel for it, in ms. */
async function cpuMs(run: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const many = new ManyPolicies(pods, policies)
const node = new NodePolicies(many.objects, benchNode)
const table = new PolicyTable(new TableSocket(systemCalls(), 4, 't8s_policy_bench'), 4)

async function measure(what: string, change: (round: number) => void): Promise<void> {
  const computed: number[] = []
  const applied: number[] = []
  for (let round = 1; round <= changes; round++) {
    change(round)
    computed.push(await cpuMs(() => void node.state(4)))
    applied.push(await cpuMs(() => table.apply(node.state(4))))
  }
  const text = `${median(computed).toFixed(1)} ms for its rules, ${median(applied).toFixed(1)} ms in the kernel`
  console.log(`${what} of ${pods} pods and ${policies} policies: ${text} (CPU)`)
}

const first = await cpuMs(() => table.apply(node.state(4)))
console.log(`first rules of ${pods} pods and ${policies} policies: ${first.toFixed(0)} ms (CPU)`)
await measure('one pod changes', (round) => many.changePod(round, round))
await measure('one policy changes', (round) => many.changePolicy(round, 80 + round))
await table.remove()
