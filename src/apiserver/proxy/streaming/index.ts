/** What kubelets answer for their pods. */
export { type KubeletAsking, kubeletLog, kubeletPortForward, kubeletStream } from './kubelet-answer.ts'
export type { KubeletOptions } from './kubelet-backend.ts'
