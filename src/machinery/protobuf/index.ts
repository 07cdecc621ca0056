/** Kubernetes' protobuf: converts `application/vnd.kubernetes.protobuf` to the objects of the JSON form, and back. */
export { type Envelope, isProtobuf, openEnvelope } from './envelope.ts'
export { MessageDecoder } from './message.ts'
export { MessageEncoder } from './writing/message-encoder.ts'
