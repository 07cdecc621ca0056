/** Methods of etcd without streams: their path, and the encoding of their messages. */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'

export interface UnaryMethod<Request, Response> {
  /** `/PACKAGE.SERVICE/METHOD`. */
  readonly path: string
  encode(request: Request): Uint8Array
  /** The response may share the memory of `bytes`. */
  decode(bytes: Buffer): Response
}

interface GeneratedMethod<Input extends DescMessage, Output extends DescMessage> {
  readonly input: Input
  readonly output: Output
  readonly name: string
  readonly parent: { readonly typeName: string }
}

/** Returns a method with generated messages, for calls that are rare. */
export const generatedMethod = <Input extends DescMessage, Output extends DescMessage>({
  input,
  output,
  name,
  parent,
}: GeneratedMethod<Input, Output>): UnaryMethod<MessageInitShape<Input>, MessageShape<Output>> => ({
  path: `/${parent.typeName}/${name}`,
  encode: (request) => toBinary(input, create(input, request)),
  decode: (bytes) => fromBinary(output, bytes),
})
