package peers;

import com.alibaba.fastjson2.JSON;
import com.alibaba.otter.canal.protocol.FlatMessage;
import java.nio.charset.StandardCharsets;

/** Canal's own class for its JSON messages, filled by fastjson as in canal's Kafka client. */
final class CanalFlatMessage implements Consumer {
    @Override
    public Object take(Request request) {
        return JSON.parseObject(new String(request.value(), StandardCharsets.UTF_8), FlatMessage.class);
    }
}
