import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reservationFaults, reservedAmounts } from './reserved.ts'

const nothing = { systemReserved: {}, kubeReserved: {}, evictionHard: {} }

test('a node cannot reserve more than it has', () => {
  const capacity = { cpu: '2', memory: '8Gi', 'ephemeral-storage': '1000Ki' }
  const reserved = reservedAmounts(
    {
      systemReserved: { cpu: '1', memory: '1Gi' },
      kubeReserved: { cpu: '1500m', pid: '100' },
      evictionHard: { 'memory.available': '100Mi', 'nodefs.inodesFree': '5%' },
    },
    capacity,
  )
  assert.deepEqual(reserved, { cpu: '2500m', memory: '1124Mi', pid: '100' })
  assert.deepEqual(reservationFaults(capacity, reserved), [
    'Resource "cpu" has a reservation of 2500m but capacity of 2. Expected capacity >= reservation.',
  ])
})

test('thresholds of memory and of the disk are reserved, in percent too', () => {
  const capacity = { memory: '8Gi', 'ephemeral-storage': '1000Ki' }
  const evictionHard = { 'memory.available': '25%', 'nodefs.available': '10%', 'imagefs.available': '15%' }
  assert.deepEqual(reservedAmounts({ ...nothing, evictionHard }, capacity), {
    memory: '2Gi',
    'ephemeral-storage': '100Ki',
  })
  const kubeReserved = { 'ephemeral-storage': '1Ki' }
  assert.deepEqual(reservedAmounts({ ...nothing, kubeReserved, evictionHard }, capacity)['ephemeral-storage'], '101Ki')
})
