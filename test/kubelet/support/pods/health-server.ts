/** A program: a server of gRPC's health checking protocol on port 5000 that is always healthy. */
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js'

/** The message `HealthCheckResponse { status: SERVING }`. */
const serving = Buffer.from([0x08, 0x01])
const asIs = (bytes: Buffer): Buffer => bytes

const server = new Server()
server.addService(
  {
    Check: {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  },
  { Check: (_: unknown, answer: sendUnaryData<Buffer>) => answer(null, serving) },
)
server.bindAsync('0.0.0.0:5000', ServerCredentials.createInsecure(), (error) => {
  if (error) throw error
  console.log('serving')
})
