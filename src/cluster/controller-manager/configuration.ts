/**
 * The body of `/configz`: the part of KubeControllerManagerConfiguration about the manager itself, and the flags of its
 * controllers.
 */
import { chosenOf, controllerValues, electionTimes, type FlagValues } from './flags/index.ts'

const nanosecondsPerMs = 1_000_000

export function configurationOf(flags: FlagValues): object {
  const { leaseDurationMs: leaseMs, renewDeadlineMs: renewMs, retryPeriodMs: retryMs } = electionTimes(flags)
  return {
    Generic: {
      Address: flags.text('bind-address') ?? '0.0.0.0',
      ClientConnection: {
        Kubeconfig: flags.text('kubeconfig') ?? '',
        QPS: flags.float('kube-api-qps') ?? 0,
        Burst: flags.int('kube-api-burst') ?? 0,
      },
      LeaderElection: {
        LeaderElect: flags.bool('leader-elect') ?? true,
        LeaseDuration: leaseMs * nanosecondsPerMs,
        RenewDeadline: renewMs * nanosecondsPerMs,
        RetryPeriod: retryMs * nanosecondsPerMs,
        ResourceLock: 'leases',
        ResourceName: leaseOf(flags).name,
        ResourceNamespace: leaseOf(flags).namespace,
      },
      Controllers: chosenOf(flags),
    },
    Flags: controllerValues(flags),
  }
}

/** Returns the name of the lease for leader election. */
export const leaseOf = (flags: FlagValues): { readonly namespace: string; readonly name: string } => ({
  namespace: flags.text('leader-elect-resource-namespace') || 'kube-system',
  name: flags.text('leader-elect-resource-name') || 'kube-controller-manager',
})
