/** The machine on which the mode ipvs works: netlink, parameters of the kernel, and time. */
import { release } from 'node:os'
import { systemCalls } from '../../../../lib/linux/system-calls.ts'
import { withHostNetwork } from '../../../netlink/host-network.ts'
import { type Ipvs, IpvsSocket } from '../../../netlink/ipvs/ipvs-socket.ts'
import { type KernelSettings, kernelSettings } from '../iptables/kernel-settings.ts'
import type { Schedule } from './servers/virtual-servers.ts'
import type { WithNetwork } from './service-interface.ts'

export interface IpvsMachine {
  readonly withIpvs: <Result>(use: (ipvs: Ipvs) => Result) => Result
  readonly withNetwork: WithNetwork
  readonly settings: KernelSettings
  /** The version of the kernel: `6.1.0-53-cloud-amd64`. */
  readonly release: string
  readonly schedule: Schedule
}

/** The real machine. @throws if koffi is not installed. */
export function machineOf(): IpvsMachine {
  const calls = systemCalls()
  return {
    withIpvs(use) {
      const ipvs = IpvsSocket.open(calls)
      try {
        return use(ipvs)
      } finally {
        ipvs.close()
      }
    },
    withNetwork: (use) => withHostNetwork(calls, undefined, use),
    settings: kernelSettings,
    release: release(),
    schedule(callback, ms) {
      const timer = setTimeout(callback, ms).unref()
      return () => clearTimeout(timer)
    },
  }
}
