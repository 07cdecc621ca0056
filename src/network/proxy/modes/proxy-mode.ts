/** A mode of kube-proxy: brings a picture of Services into effect on this node, for one IP family. */
import type { ServicePicture } from '../picture/service-picture.ts'

/** The Services to look at: those that may have changed, or `all` at the start, periodically, and after a failure. */
export type ChangedServices = ReadonlySet<string> | 'all'

export interface ProxyMode {
  /**
   * Brings the picture into effect; the calls do not overlap. Whatever `changed` does not name is in effect already.
   * With `all`, it also repairs what others have removed or changed, and removes leftovers of an earlier process.
   * @throws if it is not in effect, or only partly; the caller tries again with `all`.
   */
  sync(picture: ServicePicture, changed: ChangedServices): Promise<void>
  /**
   * True if others have removed the rules, as a firewall does that restarts. Callers ask each sync period
   * (`--iptables-sync-period`) and answer true with a sync of `all`. Absent in modes that cannot find out at low cost.
   */
  wasFlushed?(): Promise<boolean>
  /** Ends what the process itself does for connections. Rules remain, so that a restart loses no connection. */
  stop(): Promise<void>
  /** Removes all that the mode, of this or an earlier process, left on the node (`--cleanup`). */
  cleanUp(): Promise<void>
}
