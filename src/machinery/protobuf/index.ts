/** Kubernetes' protobuf: decodes `application/vnd.kubernetes.protobuf` bodies to the objects of the JSON form. */
export { type Envelope, openEnvelope } from './envelope.ts'
export { MessageDecoder } from './message.ts'
