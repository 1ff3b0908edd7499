package peers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.paimon.flink.action.cdc.CdcSourceRecord;
import org.apache.paimon.flink.action.cdc.TypeMapping;
import org.apache.paimon.flink.action.cdc.format.canal.CanalRecordParser;
import org.apache.paimon.flink.sink.cdc.CdcRecord;
import org.apache.paimon.flink.sink.cdc.RichCdcMultiplexRecord;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** Paimon's parser of Canal-JSON, as its action {@code kafka_sync_database} calls it. */
final class PaimonCanal implements Format {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final CanalRecordParser parser = new CanalRecordParser(TypeMapping.defaultMapping(), List.of());

    @Override
    public List<Format.Change> changes(Request request) throws Exception {
        List<RichCdcMultiplexRecord> read = new ArrayList<>();
        parser.flatMap(new CdcSourceRecord(JSON.readTree(request.value())), new ListCollector<>(read));
        return read.stream().map(PaimonCanal::change).toList();
    }

    private static Format.Change change(RichCdcMultiplexRecord record) {
        CdcRecord row = record.toRichCdcRecord().toCdcRecord();
        return new Format.Change(row.kind().shortString(), (Map) row.data());
    }
}
