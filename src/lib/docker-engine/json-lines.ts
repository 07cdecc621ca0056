/** Reads a stream of JSON values, one a line: events, and the progress of pulls. */

export async function* jsonLines<Value>(stream: AsyncIterable<Buffer>): AsyncGenerator<Value> {
  let rest = Buffer.alloc(0)
  for await (const chunk of stream) {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let start = 0
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      const line = data.subarray(start, end).toString().trim()
      start = end + 1
      if (line) yield JSON.parse(line) as Value
    }
    rest = Buffer.from(data.subarray(start))
  }
  const line = rest.toString().trim()
  if (line) yield JSON.parse(line) as Value
}
