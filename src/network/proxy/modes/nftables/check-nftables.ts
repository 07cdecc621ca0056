/** Checks that the mode nftables works on this machine, without a change. */
import { systemCalls } from '../../../../lib/linux/system-calls.ts'
import { TableSocket } from '../../../netlink/nftables/table-socket.ts'

/** @throws without koffi, root, or nftables in the kernel. */
export function checkNftables(): void {
  new TableSocket(systemCalls(), 4, 'kube-proxy').hasRules('nat-prerouting')
}
