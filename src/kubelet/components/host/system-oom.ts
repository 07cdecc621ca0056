/** Events of the node when the kernel kills a process because the memory of the machine is short. */
import { messageOf } from '../../../lib/message-of.ts'
import { KernelLog } from '../../oom/kernel-log.ts'
import { OomParser } from '../../oom/oom-parser.ts'
import { component, nodeReference } from '../parts.ts'

/** The interval in ms at which the log of the kernel is read. */
const readMs = 2_000

export const systemOom = component({
  name: 'system OOM events',
  needs: ['options', 'recorder', 'node', 'schedule'],
  gives: [],
  start({ options: { log }, recorder, node, schedule }, lifetime) {
    const kernel = openLog(log)
    if (!kernel) return {}
    const parser = new OomParser()
    let cancel = (): void => {}
    const read = (): void => {
      for (const message of kernel.messages()) {
        const kill = parser.add(message)
        if (kill?.cgroup !== '/') continue
        const victim = kill.process && kill.pid ? `, victim process: ${kill.process}, pid: ${kill.pid}` : ''
        const text = `System OOM encountered${victim}`
        recorder.record(nodeReference(node), 'Warning', 'SystemOOM', text, node.name)
      }
      cancel = schedule(read, readMs)
    }
    cancel = schedule(read, readMs)
    lifetime.onEnd(() => {
      cancel()
      kernel.close()
    })
    return {}
  },
})

/** Undefined, after a line in the log, if the kernel's log is not readable, as in some containers. */
function openLog(log: (line: string) => void): KernelLog | undefined {
  try {
    return new KernelLog()
  } catch (error) {
    log(`cannot read the log of the kernel: ${messageOf(error)}; events of kills for lack of memory are not recorded`)
    return undefined
  }
}
