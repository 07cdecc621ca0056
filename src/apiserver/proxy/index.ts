/** The `proxy` subresources of pods, Services and nodes, and the streams of kubelets. */
export { type Places, placesIn } from './locate.ts'
export { proxySubresource } from './subresource.ts'
