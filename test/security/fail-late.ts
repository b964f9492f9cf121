/** Preloaded by a test: an uncaught error of a driver, as drivers make them, with all that it knows. */
const fault = Object.assign(new Error('it broke'), {
  command: { name: 'auth', args: [process.env['CARRIED']] },
  query: process.env['CARRIED'],
})

// Drivers come after the product is loaded, however long that takes. Before, a fault is the runtime's to report.
const waiting = setInterval(() => {
  if (process.listenerCount('unhandledRejection') === 0) return
  clearInterval(waiting)
  if (process.env['FAULT'] === 'thrown') throw fault
  void Promise.reject(fault)
})
