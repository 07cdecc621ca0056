/** The thread of the backend udp. It waits in poll(2) and not in Node's loop, and reads commands when it is woken. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { SystemCallError } from '../../../../../lib/linux/c-library.ts'
import type { CarrierCommand, CarrierReport, CarrierStart } from '../carrier-messages.ts'
import { carrierCalls } from './carrier-calls.ts'
import { PacketLoop } from './packet-loop.ts'
import { PeerTable } from './peer-table.ts'

/** The same problem is reported once in this time, in ms. */
const reportEveryMs = 60_000

const peers = new PeerTable()
const reportedAt = new Map<string, number>()
const loop = new PacketLoop({
  ...(workerData as CarrierStart),
  calls: carrierCalls(),
  peers,
  report,
  onWake: readCommands,
})

function report(call: string, errno: number): void {
  const problem = `packets are lost: ${new SystemCallError(call, errno).message}`
  const now = performance.now()
  if (now - (reportedAt.get(problem) ?? Number.NEGATIVE_INFINITY) < reportEveryMs) return
  reportedAt.set(problem, now)
  parentPort?.postMessage({ problem } satisfies CarrierReport)
}

function readCommands(): void {
  for (let next = parentPort && receiveMessageOnPort(parentPort); next; next = receiveMessageOnPort(parentPort!)) {
    const command = next.message as CarrierCommand
    if ('stop' in command) loop.stop()
    else peers.set(command.peers)
  }
}

readCommands()
loop.run()
