/** Checks that the mode ipvs works on this machine. Loads the module ip_vs, as upstream does. */
import { existsSync } from 'node:fs'
import { SystemCallError } from '../../../../lib/linux/c-library.ts'
import { systemCalls } from '../../../../lib/linux/system-calls.ts'
import { installedVariants, type RunProgram } from '../../../iptables/iptables-programs.ts'
import { IpvsSocket } from '../../../netlink/ipvs/ipvs-socket.ts'

/** @throws without koffi, root, IPVS in the kernel, or the programs ipset and iptables; with what to do. */
export async function checkIpvs(run: RunProgram): Promise<void> {
  if (!hasIpvs()) {
    const failure = await run('modprobe', ['ip_vs']).then(
      () => undefined,
      (error: Error) => error,
    )
    if (!hasIpvs())
      throw new Error(
        'the kernel has no IPVS: load its module by `modprobe ip_vs`, or use another mode, such as nftables',
        { cause: failure },
      )
  }
  await run('ipset', ['--version']).catch((error: Error) => {
    throw new Error('ipset is not installed, which the ipvs mode of kube-proxy needs: apt-get install ipset', {
      cause: error,
    })
  })
  if ((await installedVariants(run, 4)).length === 0)
    throw new Error('iptables is not installed, which the ipvs mode of kube-proxy needs: apt-get install iptables')
}

/** True if the machine may have rules of the mode: IPVS is loaded. Loads nothing. */
export const mayHaveIpvsRules = (): boolean => existsSync('/proc/net/ip_vs')

function hasIpvs(): boolean {
  try {
    IpvsSocket.open(systemCalls()).close()
    return true
  } catch (error) {
    if (error instanceof SystemCallError && error.code === 'ENOENT') return false
    throw error
  }
}
