/**
 * Kubernetes' protobuf: request bodies of `application/vnd.kubernetes.protobuf` become the objects that JSON would have
 * given.
 */
export { type Envelope, openEnvelope } from './envelope.ts'
export { messageDecoder } from './message.ts'
