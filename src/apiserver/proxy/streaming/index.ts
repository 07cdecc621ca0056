/** Requests about pods that their kubelets answer. */
export { type KubeletRequest, kubeletLog, kubeletPortForward, kubeletStream } from './kubelet-answer.ts'
export { type KubeletOptions, kubeletBackend } from './kubelet-backend.ts'
