// Prints the moment of local times near each change of the clocks, as TiDB takes it: zone, local time as seconds
// of UTC, moment. TiDB asks Go's time.Date, and takes the nearest change for a time that clocks skip
// (tidb pkg/types/core_time.go, AdjustedGoTime). The zones are lines of the input.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

var distances = []int64{-7200, -3600, -1801, -1, 0, 1, 900, 1799, 1800, 3599, 3600, 5400}

const longest = 4 * time.Hour // what clocks skip; TiDB has no moment for times that are further from a change

func moment(local time.Time, zone *time.Location) (time.Time, bool) {
	result := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, zone)
	if result.Format(time.DateTime) == local.Format(time.DateTime) {
		return result, true
	}
	start, end := result.ZoneBounds()
	toStart, toEnd := result.Sub(start).Abs(), result.Sub(end).Abs()
	if toStart <= toEnd {
		return start, toStart <= longest
	}
	return end, toEnd <= longest
}

func main() {
	last := time.Date(2037, 12, 31, 0, 0, 0, 0, time.UTC)
	input, output := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	defer output.Flush()
	for input.Scan() {
		zone, err := time.LoadLocation(input.Text())
		if err != nil {
			panic(err)
		}
		at := time.Unix(0, 0).In(zone)
		for {
			_, change := at.ZoneBounds()
			if change.IsZero() || change.After(last) {
				break
			}
			_, before := change.Add(-time.Second).Zone()
			_, after := change.Zone()
			for _, offset := range []int{before, after} {
				for _, distance := range distances {
					local := time.Unix(change.Unix()+int64(offset)+distance, 0).UTC()
					if result, known := moment(local, zone); known {
						fmt.Fprintln(output, zone, local.Unix(), result.Unix())
					}
				}
			}
			at = change
		}
	}
}
