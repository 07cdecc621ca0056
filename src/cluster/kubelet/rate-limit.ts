/** The rate limit of a kubelet's requests. */
import type { KubeletConfiguration } from '../../kubelet/configuration/index.ts'

/** Without a limit by default: the server's fairness limits its clients. */
export const rateLimitOf = ({ kubeAPIQPS, kubeAPIBurst }: KubeletConfiguration) =>
  kubeAPIQPS > 0 ? { rateLimit: { qps: kubeAPIQPS, burst: kubeAPIBurst } } : {}
