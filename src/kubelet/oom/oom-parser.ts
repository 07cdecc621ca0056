/** Finds kills of processes by the kernel for lack of memory (OOM) in its log. */

export interface OomKill {
  /** The cgroup whose memory was short; `/` for that of the machine. */
  readonly cgroup: string
  /** 0 and '' if the kernel has not named the process. */
  readonly pid: number
  readonly process: string
}

const first = /invoked oom-killer:/
/** Of kernels since 5.0; without `oom_memcg` the memory of the machine was short. */
const ofCgroup = /oom-kill:constraint=.*,oom_memcg=(.*),task_memcg=.*,task=(.*),pid=(.*),uid=.*/
const ofOldCgroup = /Task in (.*) killed as a result of limit of (.*)/
const last = /Killed process ([0-9]+) \((.+)\)/

export class OomParser {
  #cgroup: string | undefined

  /** Takes the next message of the log. Returns the kill that it completes. */
  add(message: string): OomKill | undefined {
    if (this.#cgroup === undefined) {
      if (first.test(message)) this.#cgroup = '/'
      return undefined
    }
    const current = ofCgroup.exec(message)
    if (current) return this.#complete({ cgroup: current[1]!, process: current[2]!, pid: Number(current[3]) })
    const old = ofOldCgroup.exec(message)
    if (old) this.#cgroup = old[2]!
    const killed = last.exec(message)
    return killed ? this.#complete({ cgroup: this.#cgroup, pid: Number(killed[1]), process: killed[2]! }) : undefined
  }

  #complete(kill: OomKill): OomKill {
    this.#cgroup = undefined
    return kill
  }
}
