import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameSplitter } from './frames.ts'

function frame(stream: number, text: string): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

test('frames are the same however they are cut', () => {
  const data = Buffer.concat([frame(1, 'hello '), frame(2, 'no'), frame(1, ''), frame(1, 'world')])
  for (const size of [1, 3, 8, 9, data.length]) {
    const splitter = new FrameSplitter()
    const frames = []
    for (let at = 0; at < data.length; at += size) frames.push(...splitter.add(data.subarray(at, at + size)))
    assert.deepEqual(
      frames.map((one) => `${one.stream}:${one.data}`),
      ['stdout:hello ', 'stderr:no', 'stdout:', 'stdout:world'],
    )
  }
})

test('an error of the engine and a stream without frames are errors', () => {
  assert.throws(() => new FrameSplitter().add(frame(3, 'broken')), /ended the stream: broken/)
  assert.throws(() => new FrameSplitter().add(Buffer.from('plain text')), /not valid/)
})
